// Texts that must be laid out in memory.
// @expect fails
export default {
  id: 'memory-flat-text',
  async handler(input, context) {
    const all = [];
    for (;;) {
      const text = 'x'.repeat(2 ** 24) + all.length;
      all.push(text, text.charCodeAt(5), [...text.slice(0, 9)], text.toUpperCase());
    }
  },
};
