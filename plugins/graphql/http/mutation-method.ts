import { fail } from '#kernel';

/** A page of another site may send GET with the cookies of its reader, so GET changes nothing. */
export const createMutationMethodFailure = () =>
  fail('METHOD_NOT_ALLOWED', 'Mutations are sent by POST.', { allow: ['POST'] });
