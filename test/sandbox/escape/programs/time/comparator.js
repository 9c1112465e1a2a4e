// A comparison that never ends, inside of a built-in.
// @expect fails
export default {
  id: 'time-comparator',
  async handler(input, context) {
    [2, 1].sort(() => {
      for (;;);
    });
  },
};
