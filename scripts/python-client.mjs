export const pythonOf = () => [];
