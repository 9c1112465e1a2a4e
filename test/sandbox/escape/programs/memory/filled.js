// Arrays that are large from the start.
// @expect fails
export default {
  id: 'memory-filled',
  async handler(input, context) {
    const all = [];
    for (;;) all.push(new Array(1e6).fill(1.5));
  },
};
