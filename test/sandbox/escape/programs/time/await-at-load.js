// A module that never comes to its end.
// @expect refused
await new Promise(() => {});
export default { id: 'time-await-at-load', handler: () => ({}) };
