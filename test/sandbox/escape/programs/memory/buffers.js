// Memory outside of the heap.
// @expect fails
export default {
  id: 'memory-buffers',
  async handler(input, context) {
    const all = [];
    for (;;) {
      try {
        all.push(new Uint8Array(2 ** 24).fill(1));
      } catch (error) {
        if (all.length > 64) return { body: `ESCAPED: ${all.length * 16} MiB` };
        throw error;
      }
    }
  },
};
