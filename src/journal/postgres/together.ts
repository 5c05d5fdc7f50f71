/** Answers what is asked in one turn of the event loop together: then 100 sites ask as often as one. */
export class Together<Question, Answer> {
  readonly #answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>
  #asked: Asked<Question, Answer>[] = []

  /** @param answerAll resolves with an answer for each question, in their order */
  constructor(answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>) {
    this.#answerAll = answerAll
  }

  ask(question: Question): Promise<Answer> {
    return new Promise((answer, fail) => {
      if (this.#asked.length === 0) setImmediate(() => void this.#answer())
      this.#asked.push({ question, answer, fail })
    })
  }

  async #answer(): Promise<void> {
    const asked = this.#asked
    this.#asked = []
    try {
      const answers = await this.#answerAll(asked.map(({ question }) => question))
      for (const [index, { answer }] of asked.entries()) answer(answers[index] as Answer)
    } catch (error) {
      for (const { fail } of asked) fail(error)
    }
  }
}

interface Asked<Question, Answer> {
  readonly question: Question
  readonly answer: (answer: Answer) => void
  readonly fail: (error: unknown) => void
}
