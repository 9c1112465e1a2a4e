// A list that never ends, spread.
// @expect fails
export default {
  id: 'time-generator',
  async handler(input, context) {
    function* all() {
      for (;;) yield 0;
    }
    return { body: Math.max(...all()) };
  },
};
