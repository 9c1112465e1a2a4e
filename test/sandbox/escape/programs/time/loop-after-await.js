// The same, once control was given back.
// @expect fails
export default {
  id: 'time-loop-after-await',
  async handler(input, context) {
    await null;
    for (;;);
  },
};
