/** A stylesheet as text, minified by the build. */
declare module '*.css' {
  const text: string
  export default text
}
