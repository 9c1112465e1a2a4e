/** The bus channel on which a change of roles or permissions is announced. */
export const CHANGED = 'access.changed';
