// Built-ins that make objects of a class of its own.
// @capabilities {"items":{"accountability":"user"}}
export default {
  id: 'realm-species',
  async handler(input, context) {
    class Own extends Promise {
      static get [Symbol.species]() { return Own; }
    }
    const answer = context.host.items.readMany('secrets');
    answer.constructor = Own;
    const value = await answer.then((one) => one);
    return { body: value?.ok === true && value.value?.length ? 'ESCAPED: rows' : 'nothing' };
  },
};
