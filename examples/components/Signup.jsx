export function Signup({ tab, onDone }) {
  return (
    <>
      <rollcall-form key={tab} tab={tab} onrollcall:success={onDone} />
      <script async src="https://signup.example.com/embed.js" />
    </>
  )
}
