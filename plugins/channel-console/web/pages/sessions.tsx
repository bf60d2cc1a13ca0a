export const SessionsPage = () => <div class="page" />;
