// A call that calls itself.
export default {
  id: 'memory-recursion',
  async handler(input, context) {
    const down = () => down() + 1;
    try {
      down();
    } catch {
      return { body: "refused" };
    }
  },
};
