// Writing out a long number cannot be interrupted.
// @expect fails
export default {
  id: 'time-digits',
  async handler(input, context) {
    return { body: (2n ** 400000000n).toString().length };
  },
};
