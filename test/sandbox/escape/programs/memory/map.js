// A map of everything.
// @expect fails
export default {
  id: 'memory-map',
  async handler(input, context) {
    const all = new Map();
    for (let at = 0; ; at++) all.set(at, { at });
  },
};
