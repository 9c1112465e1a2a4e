// Lines for the log without end.
// @capabilities {"log":true}
// @expect fails
export default {
  id: 'memory-log-flood',
  async handler(input, context) {
    const line = 'x'.repeat(100000);
    for (;;) {
      context.host.log.info(line, { line });
      await null;
    }
  },
};
