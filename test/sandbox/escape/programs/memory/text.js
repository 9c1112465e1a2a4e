// A text that doubles.
// @expect fails
export default {
  id: 'memory-text',
  async handler(input, context) {
    let text = 'x';
    for (;;) text += text + 'y';
  },
};
