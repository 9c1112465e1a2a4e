// Code made from text still has nothing but the language.
export default {
  id: 'realm-indirect-eval',
  async handler(input, context) {
    const names = (0, eval)("typeof process + typeof require + typeof WebAssembly");
    const made = new Function('return typeof process + typeof require')();
    const later = await (async () => {}).constructor('return typeof process')();
    return { body: /object|function/.test(names + made + later) ? 'ESCAPED: something is there' : 'nothing' };
  },
};
