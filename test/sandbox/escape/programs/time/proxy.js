// A trap without end.
// @expect fails
export default {
  id: 'time-proxy',
  async handler(input, context) {
    const trap = new Proxy({}, { ownKeys: () => { for (;;); } });
    return { body: Object.keys(trap) };
  },
};
