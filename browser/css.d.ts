/** The text of a stylesheet, minified by the build. */
declare module '*.css' {
  const text: string
  export default text
}
