// Arithmetic on long numbers cannot be interrupted.
// @expect fails
export default {
  id: 'time-squaring',
  async handler(input, context) {
    let n = 3n ** 1000000n;
    for (;;) n *= n;
  },
};
