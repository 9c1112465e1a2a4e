// One number of many megabytes, kept again and again.
// @expect fails
export default {
  id: 'memory-long-number',
  async handler(input, context) {
    const all = [];
    for (let n = 2n ** 10000000n; ; n += 1n) all.push(n);
  },
};
