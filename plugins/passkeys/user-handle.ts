/** The user handle of a passkey: the 16 bytes of the user's key, which says nothing about the user. */
export const userHandleBytesOf = (user: string) => new Uint8Array(Buffer.from(user.replaceAll('-', ''), 'hex'));

/** The user handle as responses have it, in base64url. */
export const userHandleOf = (user: string): string => Buffer.from(userHandleBytesOf(user)).toString('base64url');
