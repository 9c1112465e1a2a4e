import { useGraphiQLActions } from '@graphiql/react';
import { useEffect, useId, useRef, useState, useSyncExternalStore } from 'react';

/** The signed-in user, at the upper right. The page loads the schema again when the user changes: each has its own. */
export function Account({ session }) {
  const email = useSyncExternalStore(session.subscribe, session.current)?.email;
  const { introspect } = useGraphiQLActions();
  const shownFor = useRef(email);
  const dialog = useRef(null);

  useEffect(() => {
    if (shownFor.current === email) return;
    shownFor.current = email;
    void introspect();
  }, [email, introspect]);

  if (email) {
    return (
      <>
        <span className="explorer-email">{email}</span>
        <button type="button" className="graphiql-button" onClick={() => session.signOut()}>
          Sign out
        </button>
      </>
    );
  }
  return (
    <>
      <button type="button" className="graphiql-button" onClick={() => dialog.current.showModal()}>
        Sign in
      </button>
      <dialog ref={dialog} className="explorer-dialog" closedby="any">
        <SignIn session={session} />
      </dialog>
    </>
  );
}

function SignIn({ session }) {
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const title = useId();

  async function submit(event) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setProblem('');
    try {
      await session.signIn(form.get('email'), form.get('password'));
    } catch (error) {
      setProblem(error.message);
      setBusy(false);
    }
  }

  return (
    <form aria-labelledby={title} onSubmit={submit}>
      <h2 id={title}>Sign in</h2>
      <label>
        E-mail
        <input name="email" type="email" autoComplete="username" required />
      </label>
      <label>
        Password
        <input name="password" type="password" autoComplete="current-password" required />
      </label>
      {problem && <p role="alert">{problem}</p>}
      <button type="submit" className="graphiql-button" disabled={isBusy}>
        Sign in
      </button>
      <p>
        For a static token write <code>{'{"Authorization": "Bearer …"}'}</code> under Headers.
      </p>
    </form>
  );
}
