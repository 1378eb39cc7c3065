"""Frequent words of languages that share a script, by which they are distinguished.

About as many for each language; of two that agree with a text equally well, the first is taken.
Languages with a script of their own need none.
"""

FREQUENT = {
    "en": "the of and to in is that it was for on are with as be this have from by not they which "
    "you were been has but their his her would there what",
    "de": "der die und das den von zu mit sich des auf für ist im dem nicht ein eine als auch es "
    "an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über",
    "fr": "le la les de des et à en un une du que qui dans est pour par sur au pas plus ne il se "
    "ce avec sont cette elle aux ont mais nous vous leur être",
    "es": "el la los las de y en que un una por con para del se no es lo al como más pero sus su "
    "le ha este esta fue son muy hay entre cuando también",
    "it": "il lo la gli le di e che un una per con non del della nel sono è si da al dei delle "
    "come più anche ma ha alla questo nella dal essere molto",
    "pt": "o os a as de e que em um uma para com não do da dos das no na por se mais como mas ao "
    "foi ele tem à seu sua ou são pelo também está",
    "gl": "o os a as de e que en un unha para con non do da dos das no na por se máis como pero ao "
    "foi el ten á seu súa ou son polo tamén está",
    "ca": "el la els les de i que en un una per amb no del dels al als és es més com però va ha "
    "aquest aquesta són seva seu també molt on hi pel",
    "ro": "și în de la cu pe un o este nu că din care mai pentru sunt au fost se lui ale a fi prin "
    "după dar această acest îi sau ce",
    "nl": "de het een en van in is dat op te zijn met voor niet aan er om ook als dan bij nog door "
    "uit wordt maar naar hebben heeft werd zij deze over",
    "af": "die en van in is het dat nie vir te om met wat op word aan sy ook was hy deur hulle by "
    "as maar kan ons daar hierdie uit baie sal",
    "sv": "och att det som en på är av för med den till inte har de ett om var jag från men kan "
    "när han hon vid så eller efter sig också mycket",
    "da": "og at det som en på er af for med den til ikke har de et om var jeg fra men kan når han "
    "hun ved så eller efter sig også meget",
    "no": "og at det som en på er av for med den til ikke har de et om var jeg fra men kan når han "
    "hun ved så eller etter seg også mye",
    "fi": "ja on ei että se oli hän mutta ovat joka kun niin myös kuin sen tai ole jos mitä tämä "
    "olla sitä minä vain nyt ne sekä voi hänen jo",
    "et": "ja on ei et see oli ta aga mis kui nii ka kes ning oma või ole tema sest seda selle "
    "välja nad veel juba nende pole oli mida siis",
    "lv": "un ir ka ar no uz par tas kas bet nav viņš bija arī pēc lai vai gan to pie tā kā viņa "
    "tikai savu jau šo ļoti līdz",
    "lt": "ir yra kad su iš į tai bet ne jis buvo kaip taip dėl ar už nuo apie po prie jo savo "
    "tik jau labai kuris jos mes iki per",
    "pl": "i w na z nie się do to że jest o jak po co ale przez od za dla są był tak już tego "
    "tym oraz ich czy jego który która",
    "cs": "a v se na je že s z do to i o k ve pro za by ale jako po si od jsou byl nebo podle "
    "který která jeho při také tak být není",
    "sk": "a v sa na je že s z do to aj o k vo pre za by ale ako po si od sú bol alebo podľa "
    "ktorý ktorá jeho pri tiež tak byť nie",
    "sl": "in je na se v da za so ki pa z tudi ne kot po bi od ali pri bil še le zelo ga kako iz "
    "bilo ter med sem njegov",
    "hr": "i je u na se da za su koji s od ne kao iz po bi ili pri bio što samo vrlo ga kako a "
    "bilo te među sam njegov također",
    "hu": "a az és hogy nem egy is van volt meg de csak ez ha már mint vagy még el ki azt lehet "
    "nagy után pedig minden kell ami mert nagyon",
    "tr": "ve bir bu için da de ile çok daha olarak ne kadar gibi olan sonra en var her o ama "
    "değil ya ki içinde olduğu ise hem",
    "id": "yang dan di untuk dengan dari ini itu pada tidak dalam akan ke juga adalah oleh ada "
    "mereka saya telah karena bisa sudah atau lebih para tersebut",
    "ms": "yang dan di untuk dengan dari ini itu pada tidak dalam akan ke juga ialah oleh ada "
    "mereka saya telah kerana boleh sudah atau lebih para tersebut",
    "vi": "và của là có cho không một trong được các những người với này đã để khi từ cũng ở đến "
    "như vào ra nhiều về thì năm rất",
    "eu": "eta da ez bat du ere dira zen izan egin dute baina den hori dela bere oso baino edo "
    "gero horrek beste hau ditu egiten zuen",
    "sw": "na ya wa kwa ni katika za la kuwa cha huu hii kama si yake ambao lakini pia hiyo ili "
    "watu vya sana baada mwa tu alikuwa",
    "tl": "ang ng sa mga na at ay ito para hindi si kung may siya niya kanyang ni ko nang pa rin "
    "lang mula dahil isang kanilang ako",
    "ru": "и в не на что с по это как он из за от так для все но у его было только к она мы бы "
    "же были был если или когда очень",
    "uk": "і в не на що з по це як він із за від так для все але у його було тільки та вона ми до "
    "ж були був якщо або коли дуже є",
    "bg": "и в не на че с по това как той от за да се са но му беше само е тя ние би ще бяха бил "
    "ако или когато много",
    "ar": "في من على إلى أن التي الذي عن مع هذا هذه كان ما لا أو كل بعد قد بين كما كانت لم ثم "
    "هو هي إن حتى عند ذلك",
    "fa": "در به از که این را با است برای آن یک خود تا کرد بر هم نیز می شد ما اما یا بود شده "
    "باید همه هر او دارد",
    "ur": "کے میں کی ہے اور سے کا کو اس نے یہ پر بھی ہیں کہ ایک نہیں تھا وہ تو کر ہو ان جو لیے "
    "گیا تھی اپنے ساتھ",
    "hi": "के में की है और से का को हैं यह पर भी कि एक नहीं था वह तो कर हो इस जो लिए ने गया थी "
    "अपने साथ थे रहा",
    "mr": "आहे आणि या च्या तर हे ते ही मध्ये नाही एक होते होता आहेत की केले असे त्या त्यांनी पण "
    "मी साठी झाली झाले तो ती व",
}
