/** The browser's localStorage with a prefix for each scope: documents for one schema do not fit the other. */
export function storageFor(scope) {
  const prefix = `explorer:${scope}:`;
  const names = () => Object.keys(localStorage).filter((name) => name.startsWith(prefix));
  return {
    get length() {
      return names().length;
    },
    getItem: (name) => localStorage.getItem(prefix + name),
    setItem: (name, value) => localStorage.setItem(prefix + name, value),
    removeItem: (name) => localStorage.removeItem(prefix + name),
    clear() {
      for (const name of names()) localStorage.removeItem(name);
    },
  };
}
