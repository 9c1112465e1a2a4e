// A search of everything within reach for objects of the isolate library.
export default {
  id: 'realm-references',
  async handler(input, context) {
    const found = [];
    const seen = new Set();
    const look = (value, path) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
      seen.add(value);
      for (const key of Reflect.ownKeys(value)) {
        let inner;
        try {
          inner = value[key];
        } catch {
          continue;
        }
        test(inner, `${path}.${String(key)}`);
        look(inner, `${path}.${String(key)}`);
      }
      const above = Object.getPrototypeOf(value);
      look(above, `${path}.__proto__`);
    };
    const test = (value, path) => {
      if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return;
      for (const name of ['applySync', 'applySyncPromise', 'applyIgnored', 'derefInto', 'deref', 'getSync', 'copySync', 'compileScriptSync', 'createContextSync']) {
        if (typeof value[name] === 'function' && value[name] !== WeakRef.prototype.deref) found.push(`${path}.${name}`);
      }
    };
    look(context, 'context');
    look(input, 'input');
    look(globalThis, 'globalThis');
    return { body: found.length ? `ESCAPED: ${found.join()}` : seen.size };
  },
};
