export default { name: "broken" };
