// Functions that remember.
// @expect fails
export default {
  id: 'memory-closures',
  async handler(input, context) {
    let last = () => 0;
    for (;;) {
      const before = last;
      const ballast = new Array(1000).fill(0);
      last = () => [before, ballast];
    }
  },
};
