export const ServicePage = () => <div class="page" />;
