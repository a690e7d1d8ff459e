"""What of SciPy's modules has no rule, and why: data, which the tests hold against what SciPy has."""

from __future__ import annotations

_PARAMETERS = "nobody has written its derivative yet: declare a rule, or use a function that has one"
_INVERSE = "it solves for a parameter of a distribution, of which nobody has written the derivative yet: declare a rule"
_WHOLE = "it makes constants of whole numbers: zeros, nodes, coefficients, numbers"
_OBJECTS = "it makes an object (poly1d): its values are differentiated through the source, or use eval_legendre and its like"
_SOURCE = "it is written in Python, and its source is differentiated as far as that goes"
_TABLES = "it makes a table of values in code that is not read: use the functions that give one"
_SETTINGS = "it configures or tests SciPy"
_ABSTRACT = "a class of errors or warnings"
_GONE = "newer versions of SciPy do not have it any more"

_SPECIAL: tuple[tuple[str, str], ...] = (
    (_PARAMETERS, "agm airye besselpoly chndtr elliprc elliprd elliprf elliprg elliprj eval_chebyc eval_chebys eval_sh_chebyt"),
    (
        _PARAMETERS,
        "eval_sh_chebyu eval_sh_jacobi eval_sh_legendre it2i0k0 it2j0y0 it2struve0 itairy iti0k0 itj0y0 itmodstruve0",
    ),
    (_PARAMETERS, "itstruve0 kelvin kolmogi kolmogorov log_wright_bessel lpmv mathieu_a mathieu_b mathieu_cem mathieu_modcem1"),
    (
        _PARAMETERS,
        "mathieu_modcem2 mathieu_modsem1 mathieu_modsem2 mathieu_sem modfresnelm modfresnelp nbdtrc ncfdtr nctdtr obl_ang1",
    ),
    (
        _PARAMETERS,
        "obl_ang1_cv obl_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv pbdv pbvv pbwa pro_ang1 pro_ang1_cv pro_cv pro_rad1",
    ),
    (_PARAMETERS, "pro_rad1_cv pro_rad2 pro_rad2_cv smirnov smirnovi tklmbda wright_bessel zetac ellip_harm ellip_harm_2"),
    (_PARAMETERS, "ellip_normal assoc_legendre_p legendre_p sph_harm_y sph_legendre_p"),
    (
        _INVERSE,
        "bdtri bdtrik bdtrin btdtria btdtrib chdtriv chndtridf chndtrinc chndtrix fdtri fdtridfd gdtria gdtrib gdtrix nbdtri",
    ),
    (
        _INVERSE,
        "nbdtrik nbdtrin ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtridf nctdtrinc nctdtrit nrdtrimn nrdtrisd pdtri pdtrik",
    ),
    (_INVERSE, "stdtridf"),
    (
        _WHOLE,
        "ai_zeros bei_zeros beip_zeros ber_zeros bernoulli berp_zeros bi_zeros c_roots cg_roots erf_zeros euler fresnel_zeros",
    ),
    (
        _WHOLE,
        "fresnelc_zeros fresnels_zeros h_roots he_roots j_roots jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros js_roots kei_zeros",
    ),
    (
        _WHOLE,
        "keip_zeros kelvin_zeros ker_zeros kerp_zeros l_roots la_roots mathieu_even_coef mathieu_odd_coef obl_cv_seq p_roots",
    ),
    (_WHOLE, "pro_cv_seq ps_roots roots_chebyc roots_chebys roots_chebyt roots_chebyu roots_gegenbauer roots_genlaguerre"),
    (_WHOLE, "roots_hermite roots_hermitenorm roots_jacobi roots_laguerre roots_legendre roots_sh_chebyt roots_sh_chebyu"),
    (
        _WHOLE,
        "roots_sh_jacobi roots_sh_legendre s_roots stirling2 t_roots ts_roots u_roots us_roots y0_zeros y1_zeros y1p_zeros",
    ),
    (_WHOLE, "yn_zeros ynp_zeros factorial2 factorialk"),
    (
        _OBJECTS,
        "chebyc chebys chebyt chebyu gegenbauer genlaguerre hermite hermitenorm jacobi laguerre legendre sh_chebyt sh_chebyu",
    ),
    (_OBJECTS, "sh_jacobi sh_legendre"),
    (_SOURCE, "assoc_laguerre diric perm softplus"),
    (
        _TABLES,
        "assoc_legendre_p_all legendre_p_all lmbda lqmn lqn pbdn_seq pbdv_seq pbvv_seq riccati_jn riccati_yn sph_harm_y_all",
    ),
    (_TABLES, "sph_legendre_p_all"),
    (_SETTINGS, "errstate geterr seterr test"),
    (_ABSTRACT, "SpecialFunctionError SpecialFunctionWarning"),
    (_GONE, "btdtr btdtri clpmn lpmn lpn sph_harm"),
)

WITHOUT_RULE: dict[str, str] = {f"special.{name}": reason for reason, names in _SPECIAL for name in names.split()}
"""The callables of `scipy` by their names in it, of whatever version."""
