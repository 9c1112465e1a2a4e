// More timers than one may have.
export default {
  id: 'time-timers',
  async handler(input, context) {
    try {
      for (let at = 0; at < 100000; at++) setTimeout(() => {}, 1e9);
    } catch {
      return { body: "refused" };
    }
    return { body: "ESCAPED: unlimited timers" };
  },
};
