// Memory that is asked for later.
// @expect fails
export default {
  id: 'memory-resizable',
  async handler(input, context) {
    const all = [];
    for (;;) {
      const buffer = new ArrayBuffer(0, { maxByteLength: 2 ** 30 });
      buffer.resize(2 ** 26);
      new Uint8Array(buffer).fill(1);
      all.push(buffer);
    }
  },
};
