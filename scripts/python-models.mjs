export const pythonModels = () => "";
