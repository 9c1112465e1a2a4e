// Normalising a text that is made for it.
// @expect fails
export default {
  id: 'time-normalize',
  async handler(input, context) {
    const text = 'a' + '\u0315\u0300\u05ae\u0301'.repeat(4000000);
    for (;;) text.normalize('NFD');
  },
};
