// A loop without end.
// @expect fails
export default {
  id: 'time-loop',
  async handler(input, context) {
    for (;;);
  },
};
