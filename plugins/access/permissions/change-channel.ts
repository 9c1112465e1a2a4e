/** The bus channel of notifications about changed roles and permissions. */
export const ACCESS_CHANGED = 'access.changed';
