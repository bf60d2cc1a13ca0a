export const ComparePage = () => <div class="page" />;
