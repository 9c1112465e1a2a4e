// A loop where the answer is written out.
// @expect fails
export default {
  id: 'time-to-json',
  async handler(input, context) {
    return {
      body: {
        toJSON() {
          for (;;);
        },
      },
    };
  },
};
