export const ApprovalsPage = () => <div class="page" />;
