// The prototypes of asynchronous functions and generators.
export default {
  id: 'realm-async-context',
  async handler(input, context) {
    const kinds = [async () => {}, function* () {}, async function* () {}];
    let reach = false;
    for (const one of kinds) {
      const made = one.constructor('return typeof process')();
      const told = made.next ? (await made.next()).value : await made;
      reach ||= told !== 'undefined';
    }
    return { body: reach ? 'ESCAPED: a process' : 'nothing' };
  },
};
