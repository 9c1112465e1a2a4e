// An expression that tries all ways to split a text.
// @expect fails
export default {
  id: 'time-backtracking',
  async handler(input, context) {
    return { body: /^(a+)+$/.test(`${'a'.repeat(64)}b`) };
  },
};
