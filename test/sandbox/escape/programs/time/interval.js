// Timers that keep coming after the answer was due.
// @expect fails
export default {
  id: 'time-interval',
  async handler(input, context) {
    setInterval(() => {
      const until = Date.now() + 50;
      while (Date.now() < until);
    }, 1);
    await new Promise(() => {});
  },
};
