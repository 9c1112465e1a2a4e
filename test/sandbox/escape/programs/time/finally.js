// Goes on where it should be cleaning up.
// @expect fails
export default {
  id: 'time-finally',
  async handler(input, context) {
    try {
      for (;;);
    } finally {
      for (;;);
    }
  },
};
