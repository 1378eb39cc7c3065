"""Function words of languages, in sentences on music, rivers and hospitals."""

import unicodedata

import pytest

from polyaurn import Corpus
from polyaurn.corpus.stop_words import function_words, stop_words_of

WRITTEN = {  # sentences; function words in them, and words that must stay
    "de": (
        [
            "Falls die Geigerin erkrankt, spielt bitte solange der Bratschist ihre Stimme.",
            "Laut Wetterdienst steigt der Fluss, sobald es in den Alpen taut; gemäß Plan wird "
            "anhand der Pegel gewarnt, bevor Keller volllaufen.",
            "Die Klinik sollte jegliche Arznei mittels Waage dosieren, sofern nämlich keine "
            "Ärztin etwas anderes verordnet, insbesondere hinsichtlich der Kinder.",
            "Demnach dürften außerhalb des Konzertsaals höchstens zwei Trommeln jeweils stehen.",
        ],
        "falls bitte solange laut sobald gemäß anhand bevor sollte jegliche mittels sofern nämlich "
        "etwas anderes insbesondere hinsichtlich demnach dürften außerhalb höchstens jeweils",
        "geigerin fluss pegel klinik arznei waage trommeln",
    ),
    "fr": (
        [
            "Lorsque la violoniste est malade, veuillez prévenir aussitôt le chef, sinon celui-ci "
            "pourrait attendre.",
            "Le fleuve monte dès que la neige fond ; toutefois, selon la mairie, aucune digue ne "
            "devrait céder, quoique certaines fuient notamment près du pont.",
            "Puisque l'infirmière doit peser chaque dose, lesquelles seront ensuite notées, il "
            "faudrait davantage de balances, voire plusieurs, auprès desquelles elle reste.",
        ],
        "lorsque veuillez sinon pourrait dès toutefois selon aucune devrait quoique certaines "
        "notamment près puisque doit chaque lesquelles seront ensuite faudrait davantage plusieurs "
        "auprès",
        "violoniste fleuve neige digue infirmière dose balances",
    ),
    "es": (
        [
            "Mientras la violinista ensaya, por favor no entren, aunque podrían escuchar desde "
            "fuera.",
            "El río crece según la lluvia; sin embargo, ningún dique debería romperse, salvo que "
            "llueva demasiado durante varias horas, excepto quizás alguno.",
            "La enfermera tiene que pesar cualquier dosis mediante una balanza, además de anotarla "
            "siempre, puesto que hubiera errores; asimismo conviene hacerlo enseguida, conforme a "
            "lo dicho.",
        ],
        "mientras favor aunque podrían desde fuera según sin embargo ningún debería salvo "
        "demasiado durante varias excepto quizás alguno tiene cualquier mediante además siempre "
        "hubiera asimismo conforme dicho",
        "violinista río lluvia dique enfermera dosis balanza",
    ),
    "ru": (
        [
            "Поскольку скрипачка заболела, поэтому альтист является заменой, если, пожалуйста, "
            "никто не против.",
            "Река поднимается согласно прогнозу, однако плотина должна выдержать, хотя некоторые "
            "дамбы вследствие паводка могут протечь, несмотря на ремонт.",
            "Медсестра необходимо взвешивает каждую дозу посредством весов, причём следует "
            "записывать, иначе нельзя, притом данная палата имеет лишь одни; вместо этого "
            "достаточно таблеток, которыми лечат.",
        ],
        "поскольку поэтому является если пожалуйста никто против согласно однако должна хотя "
        "некоторые вследствие могут несмотря необходимо каждую посредством причём следует иначе "
        "нельзя притом данная имеет лишь вместо этого достаточно которыми",
        "скрипачка альтист река плотина медсестра весов таблеток",
    ),
    "uk": (
        [
            "Якщо скрипалька хвора, або не прийде, будь ласка, зачекайте на альтиста за сценою.",
            "Річка піднімається між горами, по долині, оскільки тане сніг; проте гребля повинна "
            "витримати, незважаючи на деякі щілини, які можуть збільшитися.",
            "Медсестра має зважити кожну дозу перед прийомом, щоб ніхто не помилився, тому "
            "потрібні терези.",
        ],
        "якщо або не на за між по оскільки проте повинна незважаючи деякі які можуть має кожну "
        "перед щоб ніхто тому потрібні",
        "скрипалька річка сніг гребля медсестра терези",
    ),
    "hi": (
        [
            "अगर वायलिन वादक बीमार हो तो कृपया दूसरा संगीतकार बुलाया जाएगा, अन्यथा कार्यक्रम नहीं होगा।",
            "बाढ़ के दौरान नदी का जलस्तर बढ़ेगा, इसलिये सुरक्षा हेतु बाँध की जाँच करनी चाहिये, यद्यपि वर्षा "
            "थोड़ी कम हुई।",
            "नर्स प्रत्येक खुराक तराजू द्वारा तौलेगी ताकि किसी रोगी को अधिक दवा न मिले, और चिकित्सक "
            "तुरंत निर्णय करेगा, जिससे केवल उन्हें लाभ हो सके।",
        ],
        "अगर तो कृपया दूसरा जाएगा अन्यथा नहीं होगा दौरान इसलिये हेतु करनी चाहिये यद्यपि थोड़ी कम हुई "
        "प्रत्येक द्वारा ताकि किसी अधिक तुरंत करेगा जिससे केवल उन्हें सके",
        "वायलिन नदी बाँध खुराक तराजू दवा",
    ),
    "ar": (
        [
            "إذا مرضت عازفة الكمان فسوف يتم استبدالها، ويجب إبلاغ الفرقة أثناء التدريب بدون تأخير.",
            "سيتم فتح السد عندما يرتفع النهر، لذلك ينبغي إخلاء الضفة التي أمامه، وعلى السكان "
            "الابتعاد عنه، بينما يمكنك الذهاب إليه لاحقاً.",
            "يرجى من الممرضة وزن الجرعة بواسطة الميزان، حيث إنها لديها دواء، وكذلك لدينا أيضًا "
            "ضمادات، علماً بأنه لا يجوز لهم إهمالها.",
        ],
        "إذا فسوف يتم ويجب أثناء بدون سيتم عندما لذلك ينبغي التي أمامه وعلى عنه بينما يمكنك إليه "
        "لاحقاً يرجى من بواسطة حيث إنها لديها وكذلك لدينا أيضًا بأنه لا يجوز لهم",
        "الكمان السد النهر الممرضة الجرعة الميزان دواء",
    ),
    "zh": (
        [
            "如果小提琴手生病了，请通知每个乐团，必须由其他人代替，否则无法演出。",
            "河流在两座大坝之间上涨，因此应当按照水位警告居民，尽管目前尚未下雨。",
            "护士需要根据体重称量药物，并且不得给予任何病人过多，以免发生意外，以及随时记录。",
        ],
        "如果 每个 必须 其他人 否则 无法 之间 因此 应当 按照 尽管 目前 尚未 需要 根据 并且 不得 "
        "给予 任何 以免 以及 随时",
        "小提琴手 河流 大坝 水位 护士 药物",
    ),
    "ja": (
        [
            "バイオリン奏者が病気の場合、代わりに誰かが演奏する必要があります。",
            "大雨の際、川の水位が堤防以上になる可能性があり、現在それぞれの住民に知らせるところです。",
            "看護師は薬の重さを量ることができるため、全て記録しておいて下さい。",
        ],
        "場合 代わり 誰か 必要 ある なる 可能性 現在 それぞれ できる 全て",
        "バイオリン 演奏 川 堤防 住民 看護師 薬",
    ),
    "th": (
        [
            "ถ้านักไวโอลินป่วย กรุณาแจ้งวงดนตรีที่จะเล่นแทน ดังนั้นจึงต้องซ้อมต่อไปนี้",
            "แม่น้ำเอ่อล้นตลิ่งเนื่องจากฝนตกมากเกินไป อย่างไรก็ตามเขื่อนยังคงแข็งแรง แม้ว่าจะเก่าก็ตาม",
            "พยาบาลต้องการยาเพื่อให้ผู้ป่วยปลอดภัย โดยเฉพาะเด็ก มิฉะนั้นอาจจะเป็นอันตราย ตัวเองด้วย",
        ],
        "ถ้า กรุณา ที่จะ แทน ดังนั้น จึง เนื่องจาก มากเกินไป อย่างไรก็ตาม ยังคง แม้ว่า ก็ตาม ต้องการ "
        "เพื่อให้ โดยเฉพาะ มิฉะนั้น อาจจะ ตัวเอง",
        "แม่น้ำ ตลิ่ง เขื่อน พยาบาล ยา",
    ),
}
NOUNS = {  # that are spelt as function words, or nearly
    "de": "ehe recht kraft tat stand hinweis",
    "fr": "point face raison cause fonction personne",
    "es": "vino causa frente puesto",
    "ru": "данные случая",
    "hi": "बस पूर्व मध्य संबंध",
    "ar": "فلك فهم",
}


@pytest.mark.parametrize("language", WRITTEN)
def test_function_words_are_left_out_and_others_stay(language):
    texts, function, other = WRITTEN[language]
    there = set(Corpus.from_texts(texts, language=language, stop_words=None).vocab)
    asked = {unicodedata.normalize("NFC", word) for word in function.split()}
    content = {unicodedata.normalize("NFC", word) for word in other.split()}
    assert asked <= there, asked - there
    kept = set(Corpus.from_texts(texts, language=language).vocab)
    assert not kept & asked, kept & asked
    assert content <= kept, content - kept


@pytest.mark.parametrize("language", WRITTEN)
def test_lists_of_function_words_have_each_word_once(language):
    words = function_words(language)
    assert len(words) > 350
    assert words <= set(stop_words_of(language))
    assert not words & set(NOUNS.get(language, "").split())


def test_arabic_function_words_are_also_joined_to_and():
    assert {"على", "وعلى", "فعلى"} <= set(stop_words_of("ar"))
    assert function_words("sw") == set()
