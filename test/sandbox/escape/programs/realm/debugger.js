// Statements for tools that might be attached.
export default {
  id: 'realm-debugger',
  async handler(input, context) {
    debugger;
    return { body: 1 };
  },
};
