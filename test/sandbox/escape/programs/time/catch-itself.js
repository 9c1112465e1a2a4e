// Catches its own end and goes on.
// @expect fails
export default {
  id: 'time-catch-itself',
  async handler(input, context) {
    for (;;) {
      try {
        for (;;);
      } catch {}
    }
  },
};
