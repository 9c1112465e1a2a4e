// Compiled expressions.
// @expect fails
export default {
  id: 'memory-expressions',
  async handler(input, context) {
    const all = [];
    for (let at = 0; ; at++) {
      const one = new RegExp("(?:a|b|c)".repeat(3000) + at);
      one.test("abc");
      all.push(one);
    }
  },
};
