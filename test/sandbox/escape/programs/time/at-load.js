// A loop before there is a handler.
// @expect refused TIMEOUT
for (;;);
export default { id: 'time-at-load', handler: () => ({}) };
