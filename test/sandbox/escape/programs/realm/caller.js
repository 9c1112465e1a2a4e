// The function that called this one.
export default {
  id: 'realm-caller',
  async handler(input, context) {
    function who() {
      return who.caller;
    }
    let found = [];
    try { found.push(who()); } catch {}
    try { found.push(arguments?.callee?.caller); } catch {}
    try { found.push(Function.prototype.caller); } catch {}
    const reach = found.some((one) => typeof one === 'function' && !String(one).includes('who.caller'));
    return { body: reach ? 'ESCAPED: code of the runner' : 'nothing' };
  },
};
