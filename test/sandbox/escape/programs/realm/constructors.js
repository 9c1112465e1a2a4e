// The constructor of every function within reach, asked for a process.
export default {
  id: 'realm-constructors',
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
      if (typeof value !== 'function') return;
      for (const maker of [value.constructor, value.constructor?.constructor]) {
        try {
          const made = maker('return typeof process + typeof require + typeof Buffer')();
          if (made !== 'undefinedundefinedundefined') found.push(`${path}: ${made}`);
        } catch {}
      }
    };
    look(context, 'context');
    look(input, 'input');
    look(globalThis, 'globalThis');
    return { body: found.length ? `ESCAPED: ${found.join()}` : seen.size };
  },
};
