// Syntax of the engine itself.
export default {
  id: 'realm-natives',
  async handler(input, context) {
    try {
      new Function('%DebugPrint(1)');
      return { body: 'ESCAPED: natives syntax' };
    } catch {
      return { body: 'refused' };
    }
  },
};
