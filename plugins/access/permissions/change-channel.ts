/** The bus channel on which a change of roles or permissions is announced. */
export const ACCESS_CHANGED = 'access.changed';
