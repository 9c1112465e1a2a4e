// A loop where the answer is looked at.
// @expect fails
export default {
  id: 'time-then-getter',
  async handler(input, context) {
    return {
      get then() {
        for (;;);
      },
    };
  },
};
